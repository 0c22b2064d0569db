import type { FunctionComponent } from 'preact';
import type { Host } from '../core/api';
import { Folded } from '../shared/folded';
import { nameOf } from '../shared/names';
import type { Actions } from '../store/page';
import { say, tell } from '../words/words';
import type { CardProps } from './card';

const ITEM = { id: 'host_optimizer' };

interface Props {
    host: Host;
    act: Actions;
    Card: FunctionComponent<CardProps>;
}

// What a node's own memory holds of the optimizer, whether that fits, and its formula.
export function HostPart({ host, act, Card }: Props) {
    const item = { ...host, ...ITEM, bytes: host.bytes_per_gpu, share: 0 };
    return (
        <div class="host">
            <p>{say('answer.host', { node: host.bytes_per_node, gpu: host.bytes_per_gpu, traffic: host.pcie_bytes_per_step })}</p>
            {host.nvme_bytes_per_node > 0 && <p>{say('answer.host_nvme', { node: host.nvme_bytes_per_node })}</p>}
            <p>{tell(host.verdict)}</p>
            <Folded title={nameOf('item', ITEM)} late>
                <Card
                    group={{ id: 'optimizer', bytes: item.bytes, share: 0, items: [item] }}
                    open={{ group: 'optimizer', item: '' }}
                    act={act}
                    toAssumptions={() => document.getElementById('assumed')?.scrollIntoView({ block: 'center' })}
                />
            </Folded>
        </div>
    );
}
