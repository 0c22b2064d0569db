// Before every test of a view: an empty page, and what happy-dom lacks.
import { afterAll, afterEach, vi } from 'vitest';
import { clear } from './test-view';

Element.prototype.scrollIntoView ??= () => {};
Element.prototype.setPointerCapture ??= () => {};

afterEach(clear);
// A view may have asked for a file of its own in the last moment: the next file's page must not be gone when it arrives.
afterAll(() => vi.dynamicImportSettled());
