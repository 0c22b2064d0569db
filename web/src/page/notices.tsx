import type { Actions, Notice } from '../store/page';
import { isSaid, say, tell } from '../words/words';

export function Notices({ notices, act }: { notices: Notice[]; act: Actions }) {
    return (
        <div class="notices" role="status">
            {notices.map(({ id, details, reload, mended }) => (
                <p key={id}>
                    {tell({ id: `notice.${id}`, args: { details: isSaid(details) ? { id: details } : details } })}{' '}
                    {mended && <a href={mended}>{say('notice.mend')}</a>}
                    {reload && (
                        <button type="button" onClick={reload}>
                            {say('notice.reload')}
                        </button>
                    )}{' '}
                    <button type="button" class="quiet" onClick={() => act.dismiss(id)}>
                        {say('notice.dismiss')}
                    </button>
                </p>
            ))}
        </div>
    );
}
