// Made by plugins/words.ts: each language, and each of its parts, fetched when it is asked for.
declare module 'virtual:words' {
    type Words = string | ((args: Readonly<Record<string, unknown>>) => string);
    type Fetch<Value> = () => Promise<{ default: Readonly<Record<string, Value>> }>;
    const catalogues: Readonly<Record<string, Fetch<Fetch<Words>>>>;
    export default catalogues;
}
