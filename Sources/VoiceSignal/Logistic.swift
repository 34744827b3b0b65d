import Glibc

/// From 0 to 1, and 0.5 at 0.
@inlinable @inline(__always)
package func logistic(_ value: Float) -> Float { 1 / (1 + expf(-value)) }
