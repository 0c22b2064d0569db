// Tests speak English, with all parts of the words at once.
import { PARTS } from './parts';
import { fetchWords } from './words';

await fetchWords(...PARTS);
