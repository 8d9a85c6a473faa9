// The package ships no types; this is the part that the store uses.
declare module 'fs-native-extensions' {
  const nativeFiles: {
    /** False when another open file holds the lock. */
    tryLock(fd: number, offset?: number, length?: number): boolean;
  };
  export default nativeFiles;
}
