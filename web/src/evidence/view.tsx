// The section's contents, in a file of their own with the words, the measured runs and the famous ones.
import './evidence.css';
import type { Page } from '../store/page';
import { Famous } from './famous';
import { Measured } from './measured';
import type { Prover } from './prove';
import { SendRun } from './send';
import { table } from './table';

export function EvidenceView({ page, prover }: { page: Page; prover: Prover }) {
    return (
        <>
            <Measured table={table} />
            {page.answer && <SendRun page={page} answer={page.answer} />}
            <Famous catalog={page.catalog} prover={prover} />
        </>
    );
}
