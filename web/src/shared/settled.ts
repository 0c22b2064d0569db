import { Component, type FunctionComponent, h } from 'preact';
import { spoken } from '../words/words';

// A large view that is drawn again only when one of its properties is another one, or the language: the page changes several times for every change of the
// reader's, and a drawing that nothing changed costs time and memory. Hooks inside the view work as ever.
export function settled<Props extends object>(View: FunctionComponent<Props>) {
    return class extends Component<Props> {
        private drawnIn = spoken();
        shouldComponentUpdate(next: Readonly<Props>): boolean {
            if (this.drawnIn !== spoken()) return true;
            return (Object.keys(next) as (keyof Props)[]).some((key) => key !== 'children' && next[key] !== this.props[key]);
        }
        render() {
            this.drawnIn = spoken();
            return h(View, this.props);
        }
    };
}
