// What a command gets, and what it comes to.
import type { Catalog, Fourfold, JobRequest } from '../core/api';
import type { Start } from '../formats/find-faster';
import type { Own } from './options';

// Of the core it asks in texts alone.
export type TextCore = Omit<Fourfold, 'search'>;

// The terminal, files and pipes; a test has its own.
export interface Io {
    out(text: string): void;
    err(text: string): void;
    read(name: string): string; // "-" is standard input; throws where there is nothing to read
    now(): number; // in milliseconds
    colours: boolean;
    live: boolean; // somebody watches stderr
    language: string; // of the system, as ja_JP.UTF-8
    version: string;
}

export interface Asked {
    core: TextCore;
    catalog: Catalog;
    request: JobRequest;
    named: boolean; // a file or an option says which run is meant
    own: Partial<Record<Own, string>>;
    csv: boolean; // a table for programs
    io: Io;
    log: string | null; // what a run printed
    script: Start | null; // of the file that the job is from, where it starts a training
}

export const FITS = 0;
export const DOES_NOT_FIT = 1;
export const WRONG = 2;

export interface Done {
    status: typeof FITS | typeof DOES_NOT_FIT | typeof WRONG;
    answer: string; // the core's own
    text: string;
    notes: readonly string[]; // for stderr: what is no part of the answer
    times?: number; // bytes that the run needed, by its log, for each one that is counted
    complaints?: readonly string[]; // why there is no answer, where the core was not asked
}

export const refused = (answer: string): Done => ({ status: WRONG, answer, text: '', notes: [] });
export const complained = (...complaints: readonly string[]): Done => ({ ...refused(''), complaints });
