import '../shared/dialog.css';
import './formats.css';
import { useEffect, useRef } from 'preact/hooks';
import type { Exported } from '../core/api';
import { CopyButton } from '../shared/copy-button';
import { fileName, saveFile } from '../shared/save-file';
import type { Page } from '../store/page';
import { say, tell } from '../words/words';

interface Props {
    page: Page;
    script: Exported;
    close(): void;
}

export function ScriptPanel({ page, script, close }: Props) {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => dialog.current?.showModal(), []);
    const { text, yours, needs, left_out } = script;
    return (
        <dialog ref={dialog} class="dialog" aria-labelledby="formats-title" onClose={close}>
            <h2 id="formats-title">{say('formats.title')}</h2>
            <p>{say('formats.yours', { names: yours })}</p>
            {needs && <p>{tell(needs)}</p>}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by keyboard */}
            <section class="script" aria-label={say('formats.code')} tabIndex={0}>
                <pre>{text}</pre>
            </section>
            <p class="acts">
                <CopyButton label={say('formats.copy')} text={() => text} />
                <button type="button" onClick={() => saveFile(new Blob([text], { type: 'text/x-shellscript' }), `${fileName(page)}.sh`)}>
                    {say('formats.save')}
                </button>
            </p>
            {left_out.length > 0 && (
                <>
                    <h3>{say('formats.left_out')}</h3>
                    <p class="note">{say('formats.left_out_help')}</p>
                    <ul class="lacks">
                        {left_out.map((one) => (
                            <li key={JSON.stringify(one)}>{tell(one)}</li>
                        ))}
                    </ul>
                </>
            )}
            <p class="acts end">
                <button type="button" class="prime" onClick={() => dialog.current?.close()}>
                    {say('formats.close')}
                </button>
            </p>
        </dialog>
    );
}
