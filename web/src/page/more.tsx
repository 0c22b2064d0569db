// What the first load goes without: every detail, and the parts that the reader opens from the first screen.
import './detail.css';
import '../answer/items.css';
import '../adjust/adjust.css';
import '../evidence/how.css';
import '../answer/more.css';
import '../plans/map.css';
import '../plans/plans.css';
import '../answer/card.css';
import '../answer/paste.css';
import '../adjust/layout.css';
import '../gpus/cards.css';
import '../gpus/limits.css';
import '../gpus/own-gpu.css';
import '../evidence/calibrate.css';

export { Card } from '../answer/card';
export { PasteDialog } from '../answer/paste';
export { countedOf } from '../formats/counted';
export { Faster } from '../formats/faster';
export { findModels, importPlan, readRun } from '../formats/reader';
export { comparedWith } from '../formats/run-door';
export { jobOfScript } from '../formats/script-job';
export { OwnGpu } from '../gpus/own-gpu';
export { Detail } from './detail';
