import { parse, type Token } from '@messageformat/parser';
import { afterEach, describe, expect, test } from 'vitest';
import { allWords, argumentsOf, compileWords, coreWords, idsSource, ownWords } from '../../plugins/words';
import { LANGUAGES, type Language, languageOf } from './language';
import { partOf } from './parts';
import { partsOf, say, sentences, speak, tell, type WordId } from './words';

const languages = Object.keys(LANGUAGES) as Language[];
const english = allWords('en');

test('ids.ts says what stands in words/en.json', async () => {
    await expect(idsSource(ownWords('en'))).toMatchFileSnapshot('./ids.ts');
});

// Arguments that a reader sees. One that only chooses a form ("token", "tokens") is not needed where a language has one form.
function shownIn(template: string): Set<string> {
    const shown = new Set<string>();
    const look = (tokens: readonly Token[], plural: string): void => {
        for (const token of tokens) {
            if (token.type === 'argument' || token.type === 'function') shown.add(token.arg);
            else if (token.type === 'octothorpe') shown.add(plural);
            else if (token.type !== 'content') for (const { tokens: inside } of token.cases) look(inside, token.arg);
        }
    };
    look(parse(template), '');
    return shown;
}

test('a large number stands in a sentence as people write it', () => {
    expect(tell({ id: 'suggestion.such_as', args: { example: 1.5e13 } })).toBe('Write a number, such as 15 trillion.');
    expect(tell({ id: 'suggestion.such_as', args: { example: 2.5 } })).toBe('Write a number, such as 2.5.');
    expect(tell({ id: 'suggestion.such_as', args: { example: 9.8941e14 } })).toContain('9.894×10¹⁴');
});

describe.each(languages)('%s', (language) => {
    const words = Object.entries(allWords(language));
    test('every template compiles', () => {
        expect(() => compileWords(language, allWords(language), true)).not.toThrow();
    });
    test('every id is one of English, with the same arguments', () => {
        for (const [id, template] of words) {
            expect(english, id).toHaveProperty([id]);
            const wanted = english[id] ?? '';
            expect([...argumentsOf(wanted).keys()], id).toEqual(expect.arrayContaining([...argumentsOf(template).keys()]));
            expect([...shownIn(template)], id).toEqual(expect.arrayContaining([...shownIn(wanted)]));
        }
    });
    test('every tag is closed', () => {
        for (const [id, template] of words) {
            const tags = [...template.matchAll(/<(\/?)(\w+)>/g)].map(([, end, name]) => (end ? `/${name}` : name));
            expect(tags, id).toEqual(tags.flatMap((name, i) => (i % 2 === 0 ? [name, `/${name}`] : [])));
        }
    });
});

test('page and core say nothing under the same id', () => {
    const core = coreWords('en');
    expect(Object.keys(ownWords('en')).filter((id) => id in core)).toEqual([]);
});

describe('what is said', () => {
    afterEach(() => speak('en'));

    test('numbers in the way of the reader, plurals, choices', () => {
        expect(say('changes.gpus', { gpus: 1024 })).toBe('Use 1,024 GPUs');
        expect([1, 2048].map((count) => say('plan.block', { count }))).toEqual(['1 layer recomputed', '2,048 layers recomputed']);
        expect(say('best.lead_memory', { compared: 'more', size: 2 ** 31 })).toBe('It needs 2.00\u00a0GB more than the first.');
        expect(say('search.left_out', { what: ['a', 'b', 'c'] })).toBe('Left out of the search: a, b, and c.');
        expect(say('bar.free')).toBe('free');
        expect(sentences(say('answer.fits'), false, say('answer.other_plan'))).toBe(
            'It fits. The plan below needs too much memory; another plan may fit.',
        );
    });

    test('a sentence that lacks an argument', () => {
        const lacking = say as (id: WordId, args?: object) => string;
        expect(() => lacking('changes.gpus')).toThrow('gpus');
        expect(() => lacking('plan.block', {})).toThrow('count');
    });

    test('a text of the core, with texts inside; one that nobody knows; none', () => {
        const inside = { id: 'plan.block', args: { count: 3 } };
        expect(tell({ id: 'search.left_out', args: { what: [inside, 'x'] } })).toBe('Left out of the search: 3 layers recomputed and x.');
        expect([tell({ id: 'no.such_id' }), tell(null)]).toEqual(['no.such_id', '']);
    });

    test('a sentence with controls in it, in the order of the language', async () => {
        const slots = ['model', 'edit', 'gpus', 'gpu', 'sequence_length', 'global_batch', 'token_budget'];
        const order = () =>
            partsOf('form.sentence', slots).flatMap((part) => (typeof part === 'object' && 'slot' in part ? [part.slot] : []));
        expect(partsOf('form.sentence', slots).slice(0, 2)).toEqual(['Train ', { slot: 'model' }]);
        expect(partsOf('form.sentence', slots)).toContainEqual({ tag: 'keep', inside: [{ slot: 'gpus' }, ' × ', { slot: 'gpu' }] });
        expect(order()).toEqual(['model', 'edit']);
        await speak('ja');
        expect(partsOf('form.sentence', slots)[0]).toEqual({ tag: 'keep', inside: [{ slot: 'gpus' }, ' × ', { slot: 'gpu' }] });
    });
});

test('the language of the link, else the one chosen before, else the first of the browser that the page has', () => {
    expect(languageOf('?lang=ja&gpus=8', 'zh', ['de', 'en'])).toBe('ja');
    expect(languageOf('?gpus=8', 'zh', ['ja'])).toBe('zh');
    expect(languageOf('', null, ['de-DE', 'zh-Hans-CN', 'en'])).toBe('zh');
    expect([languageOf('?lang=xx', 'yy', []), languageOf('', null, ['de'])]).toEqual(['en', 'en']);
});

test('what the first screen says comes first', () => {
    expect(['answer.fits', 'next.faster', 'field.token_budget'].map(partOf)).toEqual(['first', 'first', 'first']);
    expect(['field.gpus', 'choice.zero.none', 'item.weights', 'band.experts'].map(partOf)).toEqual(['names', 'names', 'names', 'names']);
    const later = ['map.finding', 'map.loading', 'stages.title', 'item.weights.summary', 'used.moments', 'step.rates', 'adjust.now'];
    expect(later.map(partOf)).toEqual(later.map(() => 'more'));
    expect(['problem.no_gpu', 'suggestion.one_of', 'problem.links.list'].map(partOf)).toEqual(['wrong', 'wrong', 'placement']);
    expect(['symbol.layers', 'adjust.cluster', 'step.takes'].map(partOf)).toEqual(['formulas', 'first', 'first']);
    expect(partOf('placement.search.title')).toBe('placement');
});

test('a template is no puzzle: plurals and choices stand at most two deep', () => {
    const depth = (tokens: ReturnType<typeof parse>): number =>
        Math.max(
            0,
            ...tokens.map((token) => ('cases' in token ? 1 + Math.max(...token.cases.map(({ tokens }) => depth(tokens as never))) : 0)),
        );
    expect(Object.entries(ownWords('en')).filter(([, template]) => depth(parse(template)) > 2)).toEqual([]);
});
