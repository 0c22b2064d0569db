// What stands behind an answer and not in it. It comes in a file of its own, which no answer waits for (later.tsx).
export { Changes } from './changes';
export { Grounds } from './grounds';
export { Terms, Why } from './why';
