// What stands behind an answer and not in it, or in the place of one. It comes in a file of its own, which no answer waits for (later.tsx).
import './behind.css';
import './paper';

export { Besides } from './besides';
export { Best, Changes } from './changes';
export { Grounds } from './grounds';
export { PinButton } from './pin-button';
export { Problems } from './problems';
export { Warnings } from './warnings';
export { Terms, Why } from './why';
