// What there is to choose from.
import { format } from '../format/format';
import { say } from '../words/words';
import { type Asked, type Done, FITS } from './asked';
import { otherModels } from './job';
import { table } from './table';

const done = ({ core }: Asked, rows: string[][], right: readonly number[] = []): Done => ({
    status: FITS,
    answer: core.catalog(),
    text: table(rows, right),
    notes: [],
});

export function models(asked: Asked): Done {
    const all = [...asked.catalog.models, ...otherModels('', asked.catalog, asked.core)];
    const rows = all.map(({ id, label, parameters }) => [id, label, format.short(parameters)]);
    return done(asked, [[say('cli.head.id'), say('form.model'), say('limits.parameters')], ...rows], [2]);
}

export function gpus(asked: Asked): Done {
    const rows = asked.catalog.gpus.map(({ id, label, memory_gib: memory, gpus_per_node: node, usd_per_gpu_hour: price }) => [
        id,
        label,
        format.nominal(memory),
        format.count(node),
        price === undefined ? '–' : format.dollars(price),
    ]);
    const head = [say('cli.head.id'), say('form.gpu'), say('best.memory'), say('cli.head.node'), say('cli.head.price')];
    return done(asked, [head, ...rows], [2, 3, 4]);
}

export function clusters(asked: Asked): Done {
    const rows = asked.catalog.clusters.map(({ id, label, gpu, gpus_per_node: node }) => [id, label, gpu, format.count(node)]);
    return done(asked, [[say('cli.head.id'), say('adjust.cluster'), say('form.gpu'), say('cli.head.node')], ...rows], [3]);
}
