import { Component, type FunctionComponent, h } from 'preact';

// A large view that is drawn again only when one of its properties is another one: the page changes several times for every change of the
// reader's, and a drawing that nothing changed costs time and memory. Hooks inside the view work as ever.
export function settled<Props extends object>(View: FunctionComponent<Props>) {
    return class extends Component<Props> {
        shouldComponentUpdate(next: Readonly<Props>): boolean {
            return (Object.keys(next) as (keyof Props)[]).some((key) => key !== 'children' && next[key] !== this.props[key]);
        }
        render() {
            return h(View, this.props);
        }
    };
}
