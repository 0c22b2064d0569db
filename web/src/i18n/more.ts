// The second half of the catalogue in use, for the parts that come later.
import { more } from './en-more';

export const m = more;
