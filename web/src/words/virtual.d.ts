// Made by plugins/words.ts: each part of each language, fetched when it is asked for.
declare module 'virtual:words' {
    type Words = string | ((args: Readonly<Record<string, unknown>>) => string);
    type Fetch = () => Promise<{ default: Readonly<Record<string, Words>> }>;
    const catalogues: Readonly<Record<string, Readonly<Record<string, Fetch>>>>;
    export default catalogues;
}
