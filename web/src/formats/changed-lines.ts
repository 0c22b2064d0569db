// Of two texts, the lines that only one of them has: "- old" and "+ new", in the order of the texts.
export function changedLines(from: string, to: string): string {
    const lines = (text: string): string[] => text.split('\n').map((line) => line.trim());
    const [before, after] = [lines(from), lines(to)];
    const only = (these: string[], those: string[], sign: string): string[] =>
        these.filter((line) => line !== '' && !those.includes(line)).map((line) => `${sign} ${line}`);
    return [...only(before, after, '-'), ...only(after, before, '+')].join('\n');
}
