import type { Catalog, Ranked } from '../core/api';
import { rankedCsv } from '../shared/ranked-csv';
import { saveFile } from '../shared/save-file';

export const saveList = (catalog: Catalog, ranked: Ranked): void =>
    saveFile(new Blob([rankedCsv(catalog, ranked)], { type: 'text/csv' }), `fourfold-best-${ranked.gpus}-gpus.csv`);
