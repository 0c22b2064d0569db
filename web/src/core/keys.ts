// The keys of an object, as narrow as its type says them.
type Key<Of> = keyof Of & string;
export const keysOf = <Of extends object>(of: Of): Key<Of>[] => Object.keys(of) as Key<Of>[];
export const entriesOf = <Of extends object>(of: Of): [Key<Of>, NonNullable<Of[Key<Of>]>][] => Object.entries(of) as never;
