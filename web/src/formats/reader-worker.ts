// What reads and writes configurations, and reads logs and measured links, in a thread of its own: a long text must not hold up the page.
import createModule from 'fourfold-formats';
import type { CollectivesRead, Fourfold, LinksRead, LinksRequest, Refusal } from '../core/api';
import { serve } from '../core/serve';
import type { LinksSaid, Measured } from '../core/types';

// A measurement as typed or dropped. The page draws the numbers and hands them on.
function measure({ read_links }: Pick<Fourfold, 'read_links'>, text: string, said?: LinksSaid): Measured | CollectivesRead | Refusal {
    const request: LinksRequest = { text, ...said };
    const answer = JSON.parse(read_links(JSON.stringify(request))) as LinksRead | CollectivesRead | Refusal;
    if (!answer.ok || 'collectives' in answer) return answer;
    const { links, ...facts } = answer;
    const gpus = 'gpus' in links;
    const names = gpus ? links.gpus : links.nodes;
    const column = (rows: (number | null)[][]): Float64Array => {
        const all = new Float64Array(names.length ** 2);
        rows.forEach((row, from) => {
            all.set(
                row.map((value, to) => (from === to ? Number.NaN : (value ?? Number.NaN))),
                from * names.length,
            );
        });
        return all;
    };
    return { ...facts, names, gpus, rates: column(links.gbyte_per_s), latencies: links.latency_us ? column(links.latency_us) : null };
}

serve(createModule, (functions, { call, text, said }) => {
    if (call === 'measure') return measure(functions, text, said);
    return functions[call === 'export_plan' || call === 'find_models' || call === 'read_run' ? call : 'import_plan'](text);
});
