// What the first load goes without: fetched when a run has more than one stage, or when the reader opens one of these parts.
import '../answer/more.css';
import '../plans/map.css';
import '../plans/plans.css';
import '../answer/card.css';
import '../answer/paste.css';
import '../adjust/layout.css';
import '../gpus/limits.css';
import '../gpus/own-gpu.css';
import '../evidence/calibrate.css';

export { Layout } from '../adjust/layout';
export { Card } from '../answer/card';
export { TwoMethods } from '../answer/comparison';
export { StepCurve } from '../answer/curve';
export { PasteDialog } from '../answer/paste';
export { Stages } from '../answer/stages';
export { TimeTable } from '../answer/time-table';
export { Compare } from '../compare/compare';
export { Calibrate } from '../evidence/calibrate';
export { Evidence } from '../evidence/door';
export { Cards } from '../gpus/cards';
export { Limits } from '../gpus/limits';
export { OwnGpu } from '../gpus/own-gpu';
export { Sweep } from '../gpus/sweep';
export { Placement } from '../placement/door';
export { Best } from '../plans/best';
export { Plans } from '../plans/map';
export { PipelineTimeline } from '../timeline/door';
