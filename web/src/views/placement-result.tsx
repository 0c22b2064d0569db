export function Result(_: any) {
    return null;
}
