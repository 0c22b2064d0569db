import createModule from 'fourfold-core';
import createFormats from 'fourfold-formats';
import { compiled, compiledFormats } from '#code';
import type { Fourfold } from '../core/api';
import { instantiate } from '../core/instantiate';

let loaded: Promise<Fourfold> | undefined;

async function load(): Promise<Fourfold> {
    const [code, formats] = await Promise.all([compiled(), compiledFormats()]);
    const [core, { import_plan, export_plan, read_run }] = await Promise.all([
        instantiate(createModule, code),
        instantiate(createFormats, formats),
    ]);
    return Object.assign(core, { import_plan, export_plan, read_run });
}

// The modules themselves, JSON text in and out. They are loaded with the first question, once.
export function core(): Promise<Fourfold> {
    loaded ??= load();
    loaded.catch(() => {
        loaded = undefined; // the next question tries again
    });
    return loaded;
}
