import '../shared/dialog.css';
import './share.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Estimate } from '../core/api';
import { CopyButton } from '../shared/copy-button';
import { Folded } from '../shared/folded';
import { fileName } from '../shared/save-file';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { createMeasure } from './lines';
import { HEIGHT, Picture, WIDTH } from './picture';
import { savePng, saveSvg } from './save';
import { chatText, embedCode, linkOf, markdown } from './texts';

interface Props {
    page: Page;
    answer: Estimate;
    close(): void;
}

const selectAll = ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }): void => currentTarget.select();

function Embed({ page, link }: { page: Page; link: string }) {
    return (
        <Folded title={say('share.embed')}>
            <p class="note">{say('share.embed_help')}</p>
            <textarea
                aria-label={say('share.embed_code')}
                readOnly
                rows={6}
                spellcheck={false}
                value={embedCode(page, link)}
                onFocus={selectAll}
            />
            <p class="acts">
                <CopyButton label={say('share.copy_code')} text={() => embedCode(page, link)} />
            </p>
        </Folded>
    );
}

// What is drawn is what is saved.
function Drawing({ page, answer, link }: Omit<Props, 'close'> & { link: string }) {
    const box = useRef<HTMLDivElement>(null);
    const [failed, fail] = useState(false);
    const measure = useMemo(createMeasure, []);
    const date = useMemo(() => new Date(), []);
    const drawn = (): SVGSVGElement => box.current?.querySelector('svg') as SVGSVGElement;
    const png = () =>
        savePng(drawn(), fileName(page), WIDTH, HEIGHT).then(
            () => fail(false),
            () => fail(true),
        );
    return (
        <>
            <div ref={box} class="picture">
                <Picture page={page} answer={answer} link={link} date={date} measure={measure} />
            </div>
            <p class="acts">
                <button type="button" onClick={png}>
                    {say('share.save_png')}
                </button>
                <button type="button" onClick={() => saveSvg(drawn(), fileName(page))}>
                    {say('share.save_svg')}
                </button>
            </p>
            {failed && <p role="alert">{say('share.failed')}</p>}
        </>
    );
}

export function SharePanel({ page, answer, close }: Props) {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => dialog.current?.showModal(), []);
    const link = linkOf(page, location.href);
    return (
        <dialog ref={dialog} class="dialog share-dialog" aria-labelledby="share-title" onClose={close}>
            <h2 id="share-title">{say('share.title')}</h2>
            <label>
                {say('share.link')} <input readOnly value={link} onFocus={selectAll} />
            </label>
            <p class="acts">
                <CopyButton label={say('share.copy_link')} text={() => link} />
                <CopyButton label={say('share.copy_text')} text={() => chatText(page, answer, link)} />
                <CopyButton label={say('share.copy_markdown')} text={() => markdown(page, answer, link)} />
            </p>
            <Drawing page={page} answer={answer} link={link} />
            {location.protocol !== 'file:' && <Embed page={page} link={link} />}
            <p class="acts end">
                <button type="button" class="prime" onClick={() => dialog.current?.close()}>
                    {say('share.close')}
                </button>
            </p>
        </dialog>
    );
}
