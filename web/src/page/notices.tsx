import { t } from '../i18n';
import type { Actions, Notice } from '../store/page';

export function Notices({ notices, act }: { notices: Notice[]; act: Actions }) {
    return (
        <div class="notices" role="status">
            {notices.map(({ id, details }) => (
                <p key={id}>
                    {t.notices[id](details)}{' '}
                    <button type="button" class="quiet" onClick={() => act.dismiss(id)}>
                        {t.notices.dismiss}
                    </button>
                </p>
            ))}
        </div>
    );
}
