import { useFetched } from '../shared/fetched';
import { repository } from '../shared/repository';
import type { SendProps } from './send';

const load = () => import('./send');

// The way to the issue form, beside runs that the reader has entered.
export function SendLater(props: SendProps) {
    const { view } = useFetched(load, 'evidence', repository() !== '');
    return view ? <view.SendRun {...props} /> : null;
}
