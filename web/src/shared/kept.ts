// Makes something once. What failed is tried again when it is asked for again.
export function kept<Value>(make: () => Promise<Value>): () => Promise<Value> {
    let made: Promise<Value> | undefined;
    return () => {
        made ??= make().catch((error: unknown) => {
            made = undefined;
            throw error;
        });
        return made;
    };
}
