import { type ComponentChildren, Fragment } from 'preact';
import { partsOf, type SentencePart, type WordId } from '../words/words';

interface Props {
    id: WordId;
    args?: Readonly<Record<string, unknown>>;
    slots?: Readonly<Record<string, ComponentChildren>>; // controls in the place of arguments
    tags?: Readonly<Record<string, (inside: ComponentChildren) => ComponentChildren>>; // what encloses a part of the sentence
}

// A sentence with controls or links in it: the template says where each of them stands, so that every language orders them its own way.
export function Words({ id, args = {}, slots = {}, tags = {} }: Props) {
    const draw = (parts: readonly SentencePart[]): ComponentChildren =>
        parts.map((part, i) => {
            const key = typeof part === 'string' ? i : 'slot' in part ? part.slot : i;
            const drawn =
                typeof part === 'string'
                    ? part
                    : 'slot' in part
                      ? slots[part.slot]
                      : (tags[part.tag]?.(draw(part.inside)) ?? draw(part.inside));
            return <Fragment key={key}>{drawn}</Fragment>;
        });
    return <>{draw(partsOf(id, Object.keys(slots), args))}</>;
}
