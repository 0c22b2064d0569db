import { useState } from 'preact/hooks';
import { say } from '../words/words';
import { CopyButton } from './copy-button';

// The numbers behind a chart, made when the reader asks for them. The first row holds the heads, the first column the names.
export function Table({ title, label, rows }: { title: string; label: string; rows: () => string[][] }) {
    const [open, setOpen] = useState(false);
    const [head, ...body] = open ? rows() : [];
    return (
        <details class="behind" onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{title}</summary>
            {head && (
                <>
                    {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
                    {/* biome-ignore-start lint/suspicious/noArrayIndexKey: cells have no other identity than their place */}
                    <section class="scroll" aria-label={say('table.label', { label, title })} tabIndex={0}>
                        <table>
                            <thead>
                                <tr>
                                    {head.map((cell, i) => (
                                        <th key={i} scope="col" class={i > 0 ? 'r' : undefined}>
                                            {cell}
                                        </th>
                                    ))}
                                </tr>
                            </thead>
                            <tbody>
                                {body.map(([name, ...cells], row) => (
                                    <tr key={row}>
                                        <th scope="row">{name}</th>
                                        {cells.map((cell, i) => (
                                            <td key={i} class="r">
                                                {cell}
                                            </td>
                                        ))}
                                    </tr>
                                ))}
                            </tbody>
                        </table>
                    </section>
                    {/* biome-ignore-end lint/suspicious/noArrayIndexKey: see above */}
                    {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: see above */}
                    <p class="acts">
                        <CopyButton
                            label={say('copy.table')}
                            text={() =>
                                rows()
                                    .map((cells) => cells.join('\t'))
                                    .join('\n')
                            }
                        />
                    </p>
                </>
            )}
        </details>
    );
}
