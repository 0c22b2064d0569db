import { expect, test } from 'vitest';
import { answeredOf } from '../shared/test-data';
import { show, spies } from '../shared/test-view';
import { Card } from './card';
import { HostPart } from './host';

function shown(changes: object = {}) {
    const { host } = answeredOf('llama-405b-uneven-offload').answer;
    if (!host) throw new Error('nothing is offloaded');
    return show(<HostPart host={{ ...host, ...changes }} act={spies()} Card={Card} />);
}

test('what a node holds of the optimizer, and that nobody said how much it has', () => {
    const { text } = shown();
    expect(text()).toContain('In host memory');
    expect(text()).toContain('It is not said how much a node has.');
    expect(text()).not.toContain('drives');
});

test('a node that has too little, and drives', () => {
    const verdict = { id: 'host.does_not_fit', args: { need: 2 ** 40, has: 2 ** 39 } };
    const { text } = shown({ verdict, nvme_bytes_per_node: 2 ** 41 });
    expect(text()).toMatch(/has 512.* on every node, but what is offloaded takes 1,024/);
    expect(text()).toContain('The drives of every node hold 2,048');
});
