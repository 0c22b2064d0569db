// Rows as aligned text: what fits a terminal, a log and a mail alike.

// Letters of Chinese, Japanese and Korean, and full-width forms, take two columns.
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;
export const widthOf = (text: string): number => [...text].reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);

const GAP = '  ';

// `right`: the columns of numbers. Nothing stands behind the last text of a row.
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string {
    const widths: number[] = [];
    for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
    const line = (row: readonly string[]): string =>
        row
            .map((cell, i) => {
                const space = ' '.repeat((widths[i] ?? 0) - widthOf(cell));
                return right.includes(i) ? space + cell : cell + space;
            })
            .join(GAP)
            .trimEnd();
    return rows.map(line).join('\n');
}

// Spaces that keep a number and its unit together are for lines that break; programs that search the text know the plain one.
export const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ');
