// The catalogue in use. A further language is one more file of type Strings, chosen here.
import { en, type Strings } from './en';

export const t: Strings = en;
