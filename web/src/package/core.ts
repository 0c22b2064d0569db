import { compiled } from '#code';
import type { Fourfold } from '../core/api';
import { instantiate } from '../core/instantiate';

let loaded: Promise<Fourfold> | undefined;

// The module itself, JSON text in and out. It is loaded with the first question, once.
export function core(): Promise<Fourfold> {
    loaded ??= compiled().then(instantiate);
    loaded.catch(() => {
        loaded = undefined; // the next question tries again
    });
    return loaded;
}
