import type { Alternatives, Catalog, Estimate } from '../core/api';
import type { Language } from '../words/language';

// What the boot script (boot.ts, a classic script of its own) takes from the build and gives to the app (main.tsx).

// Made from the catalogue and the words when the page is built: see prerender.tsx.
export interface BootData {
    models: Record<string, string>; // labels by id
    numbers: Record<string, string>; // the number fields of the sentence: their names in a link, and their keys
    words: Record<Language, BootWords>;
}

// What is said before the page's own words are there.
export interface BootWords {
    name: string;
    working: string;
    taken: string;
    failed: string;
    ownModel: string;
    ownGpu: string;
    unknownGpu: string; // % stands for its id
    usualTokens: string; // in the place of a number that only the core knows
}

// The run that the page shows before any other, worked out when it was built.
export interface Example {
    catalog: Catalog;
    answer: Estimate;
    alternatives: Alternatives | null;
}

export interface Boot {
    language: Language; // of the reader; what was built speaks English
    wanted: Promise<void>; // when to begin with all that reading the finished example does not need
    module(): Promise<WebAssembly.Module>; // compiled while it is fetched; the same each time
    example(): Promise<Example | null>; // null for a link to another run, or when it cannot be had
    ready(draw: () => void): void; // draws the app, then carries out, in order, what the reader did before
    failed(): void; // the app will never be there: says so
}

declare global {
    interface Window {
        boot: Boot;
    }
    const BOOT_DATA: BootData;
}
