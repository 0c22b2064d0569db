import { Door } from '../shared/door';
import { POOLS_PARAMETER } from '../state/view';
import type { Page } from '../store/page';
import { say } from '../words/words';
import type { Mixer } from './ask';

export const Pools = ({ page, mixer }: { page: Page; mixer: Mixer }) => (
    <Door
        id="pools"
        parameter={POOLS_PARAMETER}
        texts={{ intro: say('pools_door.intro'), open: say('pools_door.open') }}
        words="phases"
        load={() => import('./view')}
    >
        {({ PoolsView }) => <PoolsView page={page} mixer={mixer} />}
    </Door>
);
