// Before every test of a view: an empty page, and what happy-dom lacks.
import { afterEach } from 'vitest';
import { clear } from './test-view';

Element.prototype.scrollIntoView ??= () => {};
Element.prototype.setPointerCapture ??= () => {};

afterEach(clear);
