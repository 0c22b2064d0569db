import { useEffect, useRef, useState } from 'preact/hooks';
import type { Imported } from '../core/api';
import { format } from '../format/format';
import { problemText } from '../shared/names';
import { MAX_CONFIG } from '../state/state';
import { say, tell } from '../words/words';

interface Props {
    start: string;
    importConfig(text: string): Promise<Imported>;
    use(model: Extract<Imported, { ok: true }>): void;
    close(): void;
}

const isEmpty = (text: string): boolean => text.trim() === '';

function Names({ title, names }: { title: string; names: string[] }) {
    if (names.length === 0) return null;
    return (
        <>
            <dt>{title}</dt>
            <dd>
                {names.map((name) => (
                    <code key={name}>{name}</code>
                ))}
            </dd>
        </>
    );
}

function Report({ result }: { result: Imported }) {
    if (!result.ok) {
        return (
            <div class="wrong">
                <h3>{say('paste.problems', { count: result.problems.length })}</h3>
                <ul>
                    {result.problems.map((problem) => (
                        <li key={problem.field + problem.rule}>{problemText(problem)}</li>
                    ))}
                </ul>
            </div>
        );
    }
    return (
        <>
            <h3>{say('paste.found', { label: result.label, parameters: result.parameters })}</h3>
            <dl>
                {result.assumed.length > 0 && (
                    <>
                        <dt>{say('paste.assumed')}</dt>
                        <dd>
                            {result.assumed.map(({ key, value, why }) => (
                                <p key={key}>
                                    <code>
                                        {key}: {JSON.stringify(value)}
                                    </code>{' '}
                                    {tell(why)}
                                </p>
                            ))}
                        </dd>
                    </>
                )}
                <Names title={say('paste.used')} names={result.used} />
                <Names title={say('paste.ignored')} names={result.ignored} />
            </dl>
        </>
    );
}

export function PasteDialog({ start, importConfig, use, close }: Props) {
    const dialog = useRef<HTMLDialogElement>(null);
    const [text, setText] = useState(start);
    const [refused, setRefused] = useState('');
    const [result, setResult] = useState<Imported | null>(null);
    useEffect(() => dialog.current?.showModal(), []);
    useEffect(() => {
        setText(start);
    }, [start]);
    useEffect(() => {
        if (isEmpty(text)) return setResult(null);
        let stale = false;
        importConfig(text).then(
            (answer) => !stale && setResult(answer),
            () => !stale && setResult(null), // the page says so: a crash has its own notice
        );
        return () => {
            stale = true;
        };
    }, [text]);

    // True when the text is small enough to be taken into the field.
    const accept = (size: number): boolean => {
        setRefused(size > MAX_CONFIG ? say('notice.too_large', { details: format.megabytes(size) }) : '');
        return size <= MAX_CONFIG;
    };
    const readFile = async (file: File | undefined) => {
        if (!file || !accept(file.size)) return;
        try {
            setText(await file.text());
        } catch {
            setRefused(say('paste.unreadable_file'));
        }
    };
    const message = refused || (result === null ? say('paste.waiting') : '');
    return (
        <dialog ref={dialog} class="paste-dialog" aria-labelledby="paste-title" onClose={close}>
            <form
                method="dialog"
                onSubmit={(event) => {
                    event.preventDefault();
                    if (result?.ok) use(result);
                }}
            >
                <h2 id="paste-title">{say('paste.title')}</h2>
                <p class="note">{say('paste.intro')}</p>
                <textarea
                    aria-label={say('paste.text')}
                    aria-describedby="paste-result"
                    aria-invalid={refused !== '' || result?.ok === false}
                    rows={9}
                    spellcheck={false}
                    placeholder={say('paste.placeholder')}
                    value={text}
                    onPaste={(event) => {
                        if (!accept(event.clipboardData?.getData('text').length ?? 0)) event.preventDefault();
                    }}
                    onInput={(event) => setText(event.currentTarget.value)}
                />
                <label class="file">
                    {say('paste.file')}
                    <input
                        type="file"
                        accept=".json,application/json,text/plain"
                        onChange={(event) => readFile(event.currentTarget.files?.[0])}
                    />
                </label>
                <div id="paste-result" class="report" role="status">
                    {message && <p class={refused ? 'wrong' : 'note'}>{message}</p>}
                    {result && <Report result={result} />}
                </div>
                <p class="acts">
                    <button type="button" onClick={() => dialog.current?.close()}>
                        {say('paste.cancel')}
                    </button>
                    <button type="submit" class="prime" aria-disabled={!result?.ok}>
                        {say('paste.use')}
                    </button>
                </p>
            </form>
        </dialog>
    );
}
