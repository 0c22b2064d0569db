// What the first load goes without: fetched when a run has more than one stage, or when the reader opens one of these parts.
import '../styles/more.css';
import '../styles/heat.css';
import '../styles/plans.css';
import '../styles/card.css';
import '../styles/paste.css';
import '../styles/layout.css';
import '../styles/limits.css';
import '../styles/calibrate.css';

export { Best } from './best';
export { Budget } from './budget';
export { Calibrate } from './calibrate';
export { Card } from './card';
export { Compare } from './compare';
export { TwoMethods } from './comparison';
export { StepCurve } from './curve';
export { Plans } from './heat';
export { Layout } from './layout';
export { Limits } from './limits';
export { PasteDialog } from './paste';
export { Placement } from './placement-door';
export { Stages } from './stages';
export { Sweep } from './sweep';
export { TimeTable } from './time-table';
export { PipelineTimeline } from './timeline-door';
