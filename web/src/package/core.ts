import createModule from 'fourfold-core';
import createFormats from 'fourfold-formats';
import { compiled, compiledFormats, compiledMore } from '#code';
import type { Fourfold } from '../core/api';
import { instantiate } from '../core/instantiate';

let loaded: Promise<Fourfold> | undefined;

async function load(): Promise<Fourfold> {
    const [code, more, formats] = await Promise.all([compiled(), compiledMore(), compiledFormats()]);
    const [core, { functions }] = await Promise.all([instantiate(createModule, code), instantiate(createFormats, formats)]);
    await core.add(more);
    const { import_plan, export_plan, find_models, read_run, read_links } = functions;
    return Object.assign(core.functions, { import_plan, export_plan, find_models, read_run, read_links });
}

// The modules themselves, JSON text in and out. They are loaded with the first question, once.
export function core(): Promise<Fourfold> {
    loaded ??= load();
    loaded.catch(() => {
        loaded = undefined; // the next question tries again
    });
    return loaded;
}
