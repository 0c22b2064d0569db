// The texts of the part "Placement", which comes in a file of its own.
import { placement } from './en-placement';

export const p = placement;
