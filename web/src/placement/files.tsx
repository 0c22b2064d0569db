import { useEffect, useState } from 'preact/hooks';
import type { Exported, JobRequest, PlaceFile } from '../core/api';
import type { Core } from '../core/client';
import { CopyButton } from '../shared/copy-button';
import { Folded } from '../shared/folded';
import { saveFile } from '../shared/save-file';
import { fetchWords, isSaid, say, tell } from '../words/words';

// A browser saves what a link points at; the text becomes an address when it is wanted.
function Download({ file }: { file: PlaceFile }) {
    const [url, setUrl] = useState('');
    useEffect(() => {
        const made = URL.createObjectURL(new Blob([file.text], { type: 'text/plain' }));
        setUrl(made);
        return () => URL.revokeObjectURL(made);
    }, [file]);
    return (
        <a class="button" href={url} download={file.name}>
            {say('placement.result.download', { name: file.name })}
        </a>
    );
}

// A file of a launcher that the page does not know has its own name alone.
function fileTitle({ id, name }: PlaceFile): string {
    const launcher = `placement.result.launcher.${id}`;
    return isSaid(launcher) ? say('placement.result.file', { launcher: tell({ id: launcher }), name }) : name;
}

interface ScriptProps {
    job: JobRequest; // that was placed
    hosts: string[]; // in the order of their ranks
    exportPlan: Core['exportPlan'];
}

// The whole run in that order, and what its script cannot say.
export function JobScript({ job, hosts, exportPlan }: ScriptProps) {
    const [made, make] = useState<Exported | 'failed' | null>(null);
    const save = async () => {
        const asked = exportPlan({ ...job, format: 'megatron-lm-slurm', hosts });
        const [answer] = await Promise.all([asked, fetchWords('formats')]).catch(() => [null]);
        make(answer?.ok ? answer : 'failed');
        if (answer?.ok) saveFile(new Blob([answer.text], { type: 'text/plain' }), 'fourfold-job.sh');
    };
    return (
        <>
            <p class="acts">
                <button type="button" onClick={save}>
                    {say('placement.result.script')}
                </button>
                {made === 'failed' && (
                    <span class="note" role="alert">
                        {say('notice.missing')}
                    </span>
                )}
            </p>
            {made !== null && made !== 'failed' && (
                <>
                    <p class="note" role="status">
                        {say('formats.yours', { names: made.yours })}
                    </p>
                    <Folded title={say('formats.left_out')}>
                        <ul>
                            {made.left_out.map((one) => (
                                <li key={JSON.stringify(one)}>{tell(one)}</li>
                            ))}
                        </ul>
                    </Folded>
                </>
            )}
        </>
    );
}

// What brings the order about, for each launcher.
export function Files({ files }: { files: PlaceFile[] }) {
    return (
        <div class="files">
            <h4>{say('placement.result.files')}</h4>
            {files.map((file) => (
                <details key={file.id} class="behind">
                    <summary>{fileTitle(file)}</summary>
                    <p class="note">{tell(file.how)}</p>
                    <p class="acts">
                        <CopyButton label={say('placement.result.copy', { name: file.name })} text={() => file.text} />
                        <Download file={file} />
                    </p>
                    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
                    <pre tabIndex={0}>{file.text}</pre>
                </details>
            ))}
        </div>
    );
}
