import '../shared/dialog.css';
import './formats.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Catalog, ConfigFormatRow, Exported, ExportRequest, JobRequest, MegatronRelease } from '../core/api';
import type { Core } from '../core/client';
import { CopyButton } from '../shared/copy-button';
import { wholePlan } from '../shared/plan-words';
import { fileName, saveFile } from '../shared/save-file';
import { request } from '../state/state';
import type { Page } from '../store/page';
import { say, tell } from '../words/words';
import { planThere, type There } from './another-plan';
import { differs } from './as-written';

type Asked = Pick<ExportRequest, 'release'> & { format: ConfigFormatRow['id'] };

interface Props {
    page: Page;
    job: JobRequest; // of the plan shown, all of it chosen
    script: Exported; // the first one
    asks: Pick<Core, 'exportPlan' | 'estimate'> & Pick<typeof import('./reader'), 'importPlan'>;
    close(): void;
}

const rowOf = ({ config_formats }: Catalog, id: Asked['format']): ConfigFormatRow =>
    config_formats.find((row) => row.id === id) ?? (config_formats[0] as ConfigFormatRow);

// The file that was asked for last; until it is there, the one before. `fail`: it could not be had.
function useScript({ job, script: first, asks: { exportPlan } }: Pick<Props, 'job' | 'script' | 'asks'>) {
    const [asked, setAsked] = useState<Asked>({ format: first.format });
    const [script, setScript] = useState(first);
    const [failed, fail] = useState(false);
    const newest = useRef(asked);
    const ask = async (next: Asked) => {
        newest.current = next;
        setAsked(next);
        const answer = await exportPlan({ ...job, ...next }).catch(() => null);
        if (newest.current !== next) return;
        fail(!answer?.ok);
        if (answer?.ok) setScript(answer);
    };
    return { asked, script, failed, ask };
}

interface ChoiceProps {
    formats: readonly ConfigFormatRow[];
    row: ConfigFormatRow;
    asked: Asked;
    ask(next: Asked): void;
}

function Choice({ formats, row, asked, ask }: ChoiceProps) {
    const plain = (row.slurm_of ?? row.id) as Asked['format'];
    const slurm = formats.find(({ slurm_of }) => slurm_of === plain);
    const newest = row.releases.at(-1);
    return (
        <p class="choice">
            <label>
                {say('formats.format')}{' '}
                <select value={plain} onChange={({ currentTarget }) => ask({ format: currentTarget.value as Asked['format'] })}>
                    {formats
                        .filter(({ slurm_of }) => slurm_of === null)
                        .map(({ id, label }) => (
                            <option key={id} value={id}>
                                {label}
                            </option>
                        ))}
                </select>
            </label>
            {newest && (
                <label>
                    {say('formats.release')}{' '}
                    <select
                        value={asked.release ?? newest}
                        onChange={({ currentTarget }) => ask({ ...asked, release: currentTarget.value as MegatronRelease })}
                    >
                        {[...row.releases].reverse().map((release) => (
                            <option key={release} value={release}>
                                {release}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            {slurm && (
                <label>
                    <input
                        type="checkbox"
                        checked={asked.format === slurm.id}
                        onChange={({ currentTarget }) => ask({ ...asked, format: currentTarget.checked ? slurm.id : plain })}
                    />{' '}
                    {say('formats.slurm')}
                </label>
            )}
        </p>
    );
}

// The plan was worked out for the framework of the page, and a file cannot say all of a plan: what comes of it where this file runs.
function Comes({
    page,
    job,
    found: { there, other },
    script,
    label,
}: Pick<Props, 'page' | 'job' | 'script'> & { found: There; label: string }) {
    const plan = other && wholePlan(page.catalog, other.answer.job, other.answer.data_parallel);
    const another = plan && <p>{say('formats.another', { label, plan })}</p>;
    if (!there.ok || (!other && script.framework === job.framework && !(page.answer && differs(there, page.answer)))) return another;
    const { class: fit, whole_bytes: used, card_bytes: card, time } = there;
    return (
        <>
            {another}
            <p class={fit === 'fits' ? undefined : 'wrong'}>{say('formats.there', { label, fit, used, card, time: time.step_seconds })}</p>
        </>
    );
}

// The file that is shown: of the plan shown or, once it is found, of another one for where the file runs.
function useFound({ page, job, script, asks, asked }: Omit<Props, 'close'> & { asked: Asked }) {
    const [found, setFound] = useState<{ of: Exported; found: There } | null>(null);
    useEffect(() => {
        planThere(page.catalog, { open: request(page.job), job, script, asked }, asks).then(
            (one) => setFound({ of: script, found: one }),
            () => {}, // a crash has its own notice
        );
    }, [script]);
    const now = found?.of === script ? found.found : null;
    return { found: now, file: now?.other?.script ?? script };
}

function LeftOut({ script, label }: { script: Exported; label: string }) {
    const left_out = script.left_out.filter((one) => !isAdapters(one));
    if (left_out.length === 0) return null;
    return (
        <>
            <h3>{say('formats.left_out')}</h3>
            <p class="note">{say('formats.left_out_help', { label })}</p>
            <ul class="lacks">
                {left_out.map((one) => (
                    <li key={JSON.stringify(one)}>{tell(one)}</li>
                ))}
            </ul>
        </>
    );
}

// Another run than the one shown, not a detail of it: that is said above the file.
const isAdapters = ({ id }: Exported['left_out'][number]): boolean => id === 'export.left_out.adapters';

export function ScriptPanel({ page, job, script: first, asks, close }: Props) {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => dialog.current?.showModal(), []);
    const { asked, script, failed, ask } = useScript({ job, script: first, asks });
    const { config_formats: formats } = page.catalog;
    const { found, file } = useFound({ page, job, script, asks, asked });
    const { text, yours, needs, format } = file;
    const { label, ending } = rowOf(page.catalog, format);
    return (
        <dialog ref={dialog} class="dialog" aria-labelledby="formats-title" onClose={close}>
            <h2 id="formats-title" aria-live="polite">
                {say('formats.title', { label })}
            </h2>
            <Choice formats={formats} row={rowOf(page.catalog, asked.format)} asked={asked} ask={ask} />
            {failed && (
                <p class="note" role="alert">
                    {say('notice.missing')}
                </p>
            )}
            {yours.length > 0 && <p>{say('formats.yours', { names: yours })}</p>}
            {needs && <p>{tell(needs)}</p>}
            {file.left_out.some(isAdapters) && <p class="wrong">{file.left_out.filter(isAdapters).map(tell)}</p>}
            {found && <Comes page={page} job={job} script={file} found={found} label={label} />}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by keyboard */}
            <section class="script" aria-label={say('formats.code')} tabIndex={0}>
                <pre>{text}</pre>
            </section>
            <p class="acts">
                <CopyButton label={say('formats.copy')} text={() => text} />
                <button type="button" onClick={() => saveFile(new Blob([text], { type: 'text/plain' }), `${fileName(page)}.${ending}`)}>
                    {say('formats.save', { ending })}
                </button>
            </p>
            <LeftOut script={file} label={label} />
            <p class="acts end">
                <button type="button" class="prime" onClick={() => dialog.current?.close()}>
                    {say('formats.close')}
                </button>
            </p>
        </dialog>
    );
}
