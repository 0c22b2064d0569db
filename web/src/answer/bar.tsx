import type { FunctionComponent } from 'preact';
import type { Estimate } from '../core/api';
import type { ShownGroup } from '../core/types';
import { format } from '../format/format';
import { lineOf, lineText, outsideOf } from '../shared/answer-words';
import { percent, room, Swatch } from '../shared/chart';
import { nameOf } from '../shared/names';
import { settledOn } from '../shared/settled';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';
import type { CardProps } from './card';

// Drawn in percent of the width, so that it needs no measuring and its texts never stretch. The scale ends at the card, or a little
// beyond the estimate where that is larger: what does not fit is drawn as long as it is.
const BEYOND = 1.04;
const GIB = 2 ** 30;

// A handful of round marks over the card's size.
function ticks(end: number): number[] {
    const rough = end / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
    return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}

const TEXT = 0.13; // of the width that a text takes: a line within it would strike it through

const LONG_NAME = 12; // letters that a wide part has room for on a phone
const LONG_ROOM = 0.5; // of a phone's width: what longer names need

interface PartProps {
    group: ShownGroup;
    from: number; // of the drawing's width
    width: number;
    text: number; // where its name and size begin
    open: boolean;
    toggle(): void;
}

function Part({ group, from, width, text, open, toggle }: PartProps) {
    const key = (event: KeyboardEvent) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        toggle();
    };
    const name = nameOf('group', group);
    const free = from + width - text;
    const x = percent((text - from) / width);
    const label = say('bar.part', { label: name, used: group.bytes, share: group.share });
    return (
        // biome-ignore lint/a11y/useSemanticElements: a button cannot stand inside an SVG drawing
        <g
            role="button"
            tabindex={0}
            aria-label={label}
            aria-pressed={open}
            class={`part ${group.id} ${room(free)} ${name.length > LONG_NAME && free < LONG_ROOM ? 'long' : ''}`}
            onClick={toggle}
            onKeyDown={key}
        >
            <svg aria-hidden="true" x={percent(from)} width={percent(width)} height="100%">
                <rect class={`f-${group.id}`} width="100%" height="100%" />
                <rect class="pattern" width="100%" height="100%" fill={`url(#p-${group.id})`} />
                <rect class="edge" width="100%" height="100%" />
                <text class="name" x={x} dx="10" y="26">
                    {name}
                </text>{' '}
                <text class="size" x={x} dx="10" y="46">
                    {format.gb(group.bytes)}
                </text>
            </svg>
        </g>
    );
}

// Of all that the bar shows: for the fullest GPU the headline's bytes.
function finding(answer: Estimate, shown: ShownGroup[], fullest: boolean): string {
    const [most] = [...answer.groups].sort((a, b) => b.bytes - a.bytes);
    if (!most) return say('bar.label');
    const total = shown.reduce((sum, group) => sum + group.bytes, 0);
    const largest = { id: most.id, part: nameOf('group', most), used: format.gb(most.bytes), total };
    return fullest ? say('bar.finding', largest) : say('bar.finding_stage', { stage: answer.stage + 1, ...largest });
}

// They stand among every detail, which the first screen is yet to show.
const toAssumptions = () => {
    location.hash = 'assumed';
};

// The part that was touched, explained where it stands. From there the others are reached too: some are narrower than a finger.
function BarCard({ page, groups, act, Card }: Omit<Props, 'answer'> & { groups: ShownGroup[] }) {
    const open = page.open?.at === 'bar' ? page.open : null;
    const group = groups.find(({ id }) => id === open?.group);
    if (!open || !group) return <p class="note">{say('bar.hint')}</p>;
    const within: Actions = { ...act, open: (item) => act.open(item && { ...item, at: 'bar' }) };
    return (
        <div class="bar-card">
            <h2>{nameOf('group', group)}</h2>
            <p class="acts">
                {groups
                    .filter(({ id }) => id !== group.id)
                    .map(({ id }) => (
                        <button key={id} type="button" class="link" onClick={() => within.open({ group: id, item: '' })}>
                            <Swatch id={id} /> {nameOf('group', { id })}
                        </button>
                    ))}
            </p>
            <Card group={group} open={open} act={within} toAssumptions={toAssumptions} />
        </div>
    );
}

interface Props {
    page: Pick<Page, 'open' | 'depth'>;
    answer: Estimate;
    act: Actions;
    Card: FunctionComponent<CardProps>;
}

const NEAR_LEFT = 0.3; // a text that ends there would begin outside of a phone's screen
const NEAR_RIGHT = 0.65; // on a phone a text that ends there leaves no room for another one at the right end

export const Bar = settledOn(['open', 'depth'], ({ page, answer, act, Card }: Props) => {
    const outside = outsideOf(answer);
    const fullest = answer.stage === answer.worst_stage;
    const line = lineOf(answer);
    const open = page.open?.at === 'bar' ? page.open : null;
    const shown = [...answer.groups, ...(outside ? [outside] : [])].filter((group) => group.bytes > 0);
    const share = shown.reduce((sum, group) => sum + group.share, 0);
    const end = Math.max(1, share * BEYOND); // in cards
    const at = (share: number): number => share / end;
    const beyond = share > 1;
    const starts = shown.map((_, i) => shown.slice(0, i).reduce((sum, group) => sum + group.share, 0));
    const marks = ticks((answer.card_bytes / GIB) * end).map((gib) => ({ gib, x: at((gib * GIB) / answer.card_bytes) }));
    const cardX = at(1);
    // Behind the lines that would cross it, where the part goes on for long enough.
    const textOf = (from: number, to: number): number => {
        const text = [at(line), cardX].reduce((x, mark) => (mark > x && mark - x < TEXT ? mark : x), from);
        return to - text < TEXT ? from : text;
    };
    // A phone has no room for a mark beside the size of the card, which begins there where it stands far left.
    const size = cardX < NEAR_LEFT ? cardX + 0.13 : cardX;
    return (
        <section class="card-bar memory" aria-label={say('bar.label')}>
            {page.depth === 'detail' && <h2 id="bar-title">{finding(answer, shown, fullest)}</h2>}
            <svg class="above" height="20" aria-hidden="true">
                <text x={percent(at(line))} y="14" text-anchor={at(line) < NEAR_LEFT ? 'start' : 'end'}>
                    {lineText(answer)}
                </text>
                {beyond && (
                    <text class={at(line) > NEAR_RIGHT ? 'over tight' : 'over'} x="100%" y="14" text-anchor="end">
                        {say('bar.over')}
                    </text>
                )}
            </svg>
            {/* biome-ignore lint/a11y/useSemanticElements: a group of buttons in a drawing */}
            <svg
                class={beyond ? 'bar beyond-card' : 'bar'}
                height="72"
                role="group"
                aria-label={fullest ? say('bar.label') : say('bar.stage', { stage: answer.stage + 1 })}
            >
                <rect class="card" width={percent(cardX)} height="100%" />
                {shown.map((group, i) => (
                    <Part
                        key={group.id}
                        group={group}
                        from={at(starts[i] ?? 0)}
                        width={at(group.share)}
                        text={textOf(at(starts[i] ?? 0), at((starts[i] ?? 0) + group.share))}
                        open={open?.group === group.id}
                        toggle={() => act.open(open?.group === group.id ? null : { group: group.id, item: '', at: 'bar' })}
                    />
                ))}
                {beyond ? (
                    <g class="beyond">
                        <rect x={percent(cardX)} y="60" width={percent(at(share) - cardX)} height="12" fill="url(#p-beyond)" />
                        <rect class="limit" x={percent(cardX)} width={percent(at(share) - cardX)} height="100%" />
                    </g>
                ) : (
                    <text class={`free ${room(1 - share)}`} x="100%" dx="-10" y="26" text-anchor="end">
                        {say('bar.free')}
                    </text>
                )}
                <line class="line80" x1={percent(at(line))} x2={percent(at(line))} y1="0" y2="100%" />
                <rect class="frame" width={percent(cardX)} height="100%" />
            </svg>
            <svg class="scale" height="26" aria-hidden="true">
                {marks
                    .filter(({ x }) => Math.abs(x - cardX) > 0.13 && x < 0.97)
                    .map(({ gib, x }) => (
                        <g key={gib} class={x > 0.55 || Math.abs(x - size) < 0.17 ? 'far' : undefined}>
                            <line x1={percent(x)} x2={percent(x)} y1="0" y2="5" />
                            <text x={percent(x)} y="20" text-anchor={gib === 0 ? 'start' : 'middle'}>
                                {format.nominal(gib)}
                            </text>
                        </g>
                    ))}
                <line x1={percent(cardX)} x2={percent(cardX)} y1="0" y2="5" />
                <text
                    class="cardsize"
                    x={percent(cardX)}
                    y="20"
                    text-anchor={cardX > 0.85 ? 'end' : cardX < NEAR_LEFT ? 'start' : 'middle'}
                >
                    {say('bar.card', { size: format.nominal(answer.gpu.memory_gib) })}
                </text>
            </svg>
            <BarCard page={page} groups={shown} act={act} Card={Card} />
        </section>
    );
});
