// A source file in which every mutant stands at once, to be chosen when the program runs (mutants.h): one build serves them all.
import { codeMask } from './sites.mjs';

const SIGNS = {
    '+': 'Plus',
    '-': 'Minus',
    '*': 'Times',
    '/': 'Over',
    '<=': 'AtMost',
    '>=': 'AtLeast',
    '<': 'Below',
    '>': 'Above',
    '==': 'Equal',
    '!=': 'Unequal',
};
const CALLS = { 'min(': 'smaller', 'max(': 'larger', 'ceil(': 'rounded_up' };
const isLogical = (site) => /&&|\|\|/.test(site.was);

// Where the expression around a sign && or || begins and ends: all that a changed sign may bind in another way.
function expressionAround(text, code, at) {
    const isColon = (i) => text[i] === ':' && text[i - 1] !== ':' && text[i + 1] !== ':';
    const isAssignment = (i) => text[i] === '=' && !'=<>!+-*/|&'.includes(text[i - 1]) && text[i + 1] !== '=';
    let begin = at;
    for (let depth = 0; begin > 0; --begin) {
        const i = begin - 1;
        if (!code[i]) continue;
        if (')]}'.includes(text[i])) ++depth;
        else if ('([{'.includes(text[i])) {
            if (depth-- === 0) break;
        } else if (depth === 0 && (';,?'.includes(text[i]) || isColon(i) || isAssignment(i) || text.startsWith('return ', begin - 7)))
            break;
    }
    let end = at;
    for (let depth = 0; end < text.length; ++end) {
        if (!code[end]) continue;
        if ('([{'.includes(text[end])) ++depth;
        else if (')]}'.includes(text[end])) {
            if (depth-- === 0) break;
        } else if (depth === 0 && (';,?'.includes(text[end]) || isColon(end))) break;
    }
    return { begin, end };
}

// A variable that has mutants gets its value when the program starts: it is constant, not constexpr.
function constantsAtStart(text, isHeader) {
    const code = codeMask(text);
    let out = '';
    let at = 0;
    for (const match of text.matchAll(/(if )?\b(inline |static )?constexpr\b/g)) {
        if (!code[match.index] || match[1]) continue;
        let end = match.index;
        for (let depth = 0; end < text.length && !(text[end] === ';' && depth === 0 && code[end]); ++end) {
            if (!code[end]) continue;
            depth += '([{'.includes(text[end]) ? 1 : ')]}'.includes(text[end]) ? -1 : 0;
        }
        if (!text.slice(match.index, end).includes('::mutants::')) continue;
        const kind = match[2] === 'inline ' ? 'inline const' : match[2] && isHeader ? 'static inline const' : 'static const';
        out += text.slice(at, match.index) + kind;
        at = match.index + match[0].length;
    }
    return out + text.slice(at);
}

function oneMutant({ id, was, now }) {
    const sign = was.trim();
    if (SIGNS[sign]) return ` ${sign} ::mutants::${SIGNS[sign]}<${id}>{} ${sign} `;
    return CALLS[sign] ? `::mutants::${CALLS[sign]}<${id}>(` : `::mutants::number<${id}>(${was}, ${now})`;
}

// The text with its sites, but for those in `apart`; `applied`, one of these, is made in the text itself, for a build of its own.
export function withMutants({ name, text, sites }, apart, applied) {
    const code = codeMask(text);
    const here = sites.filter((site) => !apart.has(site.id));
    const placeOf = ({ at, was }, written) => ({
        begin: CALLS[was] && text.slice(0, at).endsWith('std::') ? at - 5 : at,
        end: at + was.length,
        text: written,
    });
    const places = here.filter((site) => !isLogical(site)).map((site) => placeOf(site, () => oneMutant(site)));
    if (applied?.file === name) places.push({ begin: applied.at, end: applied.at + applied.was.length, text: () => applied.now });

    const between = (begin, end, within) => {
        let out = '';
        let at = begin;
        for (const place of places) {
            if (place === within || place.begin < at || place.end > end) continue;
            out += text.slice(at, place.begin) + place.text();
            at = place.end;
        }
        return out + text.slice(at, end);
    };

    // Neither operand of && and || may be computed where it was not before: the whole expression is written once for each of its mutants.
    const logical = new Map();
    for (const site of here.filter(isLogical)) {
        const { begin, end } = expressionAround(text, code, site.at);
        const place = logical.get(begin) ?? { begin, end, mutants: [] };
        place.mutants.push(site);
        logical.set(begin, place);
    }
    const copy = (from, to) => text.slice(from, to).replace(/\/\/[^\n]*|\n/g, ' ');
    for (const place of logical.values()) {
        const mutant = ({ id, at, was, now }) =>
            `::mutants::is_chosen<${id}>() ? static_cast<bool>(${copy(place.begin, at)}${now}${copy(at + was.length, place.end)}) : `;
        place.text = () => ` (${place.mutants.map(mutant).join('')}static_cast<bool>(${between(place.begin, place.end, place)}))`;
        places.push(place);
    }
    places.sort((a, b) => a.begin - b.begin || b.end - a.end);
    const whole = between(0, text.length).replace(/static_assert\([^;]*;/g, (assertion) => assertion.replace(/[^\n]/g, ''));
    return `#include "mutants.h"\n#line 1\n${constantsAtStart(whole, name.endsWith('.h'))}`;
}
