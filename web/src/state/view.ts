// What a link says besides the job: how the page shows it. Who calculates with a link skips these.
import { LANGUAGE_PARAMETER } from '../words/language';

export const DEPTH_PARAMETER = 'depth';
export const PHASES_PARAMETER = 'phases'; // of a run: its room reads and writes them
export const POOLS_PARAMETER = 'pools'; // further GPUs of other kinds, the same
export const LIMITS_PARAMETER = 'limits'; // the days in which the run should be done
export const CARDS_PARAMETER = 'cards'; // the same for other cards, and the money
export const ROOM_PARAMETERS: readonly string[] = [PHASES_PARAMETER, POOLS_PARAMETER, LIMITS_PARAMETER, CARDS_PARAMETER];
export const VIEW_PARAMETERS: ReadonlySet<string> = new Set([LANGUAGE_PARAMETER, DEPTH_PARAMETER, ...ROOM_PARAMETERS]);

// Whether the address says which run is meant; else the page shows its own example.
export const namesRun = (): boolean => [...new URLSearchParams(location.search).keys()].some((name) => !VIEW_PARAMETERS.has(name));

// Another run, seen as the page's own address says it.
export function asSeen(link: string): string {
    const now = new URLSearchParams(location.search);
    return [LANGUAGE_PARAMETER, DEPTH_PARAMETER].reduce((whole, name) => withView(whole, name, now.get(name)), link);
}

// A link with one of these set, or without it.
export function withView(link: string, name: string, value: string | null): string {
    const [query = '', hash] = link.split('#');
    const kept = query.split(/^\?|&/).filter((part) => part && !part.startsWith(`${name}=`));
    if (value !== null) kept.push(`${name}=${value}`);
    return `?${kept.join('&')}${hash === undefined ? '' : `#${hash}`}`;
}
