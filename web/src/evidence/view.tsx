// The section's contents, in a file of their own with the words, the measured runs and the famous ones.
import './evidence.css';
import type { Catalog } from '../core/api';
import { Famous } from './famous';
import { Measured } from './measured';
import type { Prover } from './prove';
import { table } from './table';

export function EvidenceView({ catalog, prover }: { catalog: Catalog; prover: Prover }) {
    return (
        <>
            <Measured table={table} />
            <Famous catalog={catalog} prover={prover} />
        </>
    );
}
