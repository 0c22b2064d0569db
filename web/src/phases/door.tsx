import { Door } from '../shared/door';
import { PHASES_PARAMETER } from '../state/view';
import type { Page } from '../store/page';
import { say } from '../words/words';
import type { Phaser } from './ask';

export const Phases = ({ page, phaser }: { page: Page; phaser: Phaser }) => (
    <Door
        id="phases"
        parameter={PHASES_PARAMETER}
        texts={{ intro: say('phases_door.intro'), open: say('phases_door.open') }}
        words="phases"
        load={() => import('./view')}
    >
        {({ PhasesView }) => <PhasesView page={page} phaser={phaser} />}
    </Door>
);
