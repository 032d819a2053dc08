//! Patterns and what they make of numbers.

use core::fmt;

use super::DecimalFormat;
use super::decimal::Decimal;

/// A pattern of `format-number`, read with a [`DecimalFormat`], with which it has to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    positive: Affixes,
    /// What the second half of the pattern says; else it is the positive form with a minus sign before.
    negative: Option<Affixes>,
    number: Shape,
    /// The power of ten by which numbers are multiplied: per cent, per mille.
    scale: i64,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Affixes {
    prefix: String,
    suffix: String,
}

/// Which digits are written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    min_integer: usize,
    min_fraction: usize,
    max_fraction: usize,
    /// Digits of a group, 0 for no groups.
    group: usize,
    point: Point,
}

/// When there is a decimal separator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    Always,
    BeforeFraction,
}

/// Why a string is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PictureError {
    /// It has no digit at all.
    NoDigits,
    /// There is another decimal separator.
    SecondDecimalSeparator,
    /// Digits that must be there stand before ones that need not in the integer part, or behind them in the fraction.
    DigitOrder,
    /// A grouping separator stands last in the integer part, or in the fraction.
    Grouping,
    /// What has a meaning in patterns stands behind the number, and not between apostrophes.
    SpecialCharacter,
    /// It has per cent and per mille, or one of them twice.
    SecondScale,
    /// There are more than two halves.
    ThirdHalf,
    /// There is no second apostrophe.
    Apostrophe,
}

impl fmt::Display for PictureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoDigits => "a pattern without digits",
            Self::SecondDecimalSeparator => "a pattern with two decimal separators",
            Self::DigitOrder => "a pattern with optional digits between required ones",
            Self::Grouping => "a pattern with a grouping separator that no digit of the integer part follows",
            Self::SpecialCharacter => {
                "a pattern with a special character behind the number, outside of apostrophes"
            }
            Self::SecondScale => "a pattern with more than one percent or per-mille sign",
            Self::ThirdHalf => "a pattern with more than two halves",
            Self::Apostrophe => "a pattern with an apostrophe that is not closed",
        })
    }
}

impl core::error::Error for PictureError {}

impl Picture {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn parse(pattern: &str, format: &DecimalFormat) -> Result<Self, PictureError> {
        let (positive, rest) = Half::parse(pattern, format)?;
        let negative = match rest {
            None => None,
            Some(rest) => match Half::parse(rest, format)? {
                (_, Some(_)) => return Err(PictureError::ThirdHalf),
                // Two halves that look the same would not tell what is negative.
                (half, None) if half.affixes == positive.affixes => None,
                (half, None) => Some(half.affixes),
            },
        };
        let number = positive.count.shape()?;
        Ok(Self { positive: positive.affixes, negative, number, scale: positive.scale.unwrap_or(0) })
    }

    /// Appends a number. Halves are rounded to the even digit. Negative zero has no sign.
    pub(crate) fn write(&self, out: &mut String, number: f64, format: &DecimalFormat) {
        if number.is_nan() {
            out.push_str(&format.nan);
            return;
        }
        let affixes = match (&self.negative, number < 0.0) {
            (_, false) => &self.positive,
            (Some(negative), true) => negative,
            (None, true) => {
                out.push(format.minus_sign);
                &self.positive
            }
        };
        out.push_str(&affixes.prefix);
        if number.is_infinite() {
            out.push_str(&format.infinity);
        } else {
            let mut decimal = Decimal::of(number, self.scale);
            decimal.round(self.number.max_fraction);
            self.number.write(out, &decimal, format);
        }
        out.push_str(&affixes.suffix);
    }
}

impl Shape {
    fn write(&self, out: &mut String, decimal: &Decimal, format: &DecimalFormat) {
        let integer = decimal.integer();
        let padding = self.min_integer.saturating_sub(integer.len());
        let mut left = integer.len().saturating_add(padding);
        let has_integer = left > 0;
        for digit in core::iter::repeat_n(0, padding).chain(integer) {
            out.push(format.digit_of(digit));
            left = left.saturating_sub(1);
            if left > 0 && left.checked_rem(self.group) == Some(0) {
                out.push(format.grouping_separator);
            }
        }
        let fraction = decimal.fraction();
        let padding = self.min_fraction.saturating_sub(fraction.len());
        let has_fraction = fraction.len() > 0 || padding > 0;
        if !has_integer && !has_fraction {
            out.push(format.zero_digit);
        }
        if has_fraction || self.point == Point::Always {
            out.push(format.decimal_separator);
        }
        for digit in fraction.chain(core::iter::repeat_n(0, padding)) {
            out.push(format.digit_of(digit));
        }
    }
}

/// One half of a pattern, before or behind the separator.
#[derive(Debug, Default)]
struct Half {
    affixes: Affixes,
    count: Count,
    scale: Option<i64>,
}

/// What the number part of a pattern has.
#[derive(Debug, Default)]
struct Count {
    /// Optional digits, then required ones, then optional ones again, wherever the point is.
    left: usize,
    required: usize,
    right: usize,
    /// How many digits stand before the point.
    point: Option<usize>,
    /// How many digits stand between the last grouping separator and the point.
    group: Option<usize>,
}

/// Which part of a half is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Prefix,
    Number,
    Suffix,
}

impl Half {
    /// One half, and the rest behind the separator.
    fn parse<'a>(pattern: &'a str, format: &DecimalFormat) -> Result<(Self, Option<&'a str>), PictureError> {
        let mut half = Self::default();
        let mut part = Part::Prefix;
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            if c == '\'' {
                if part == Part::Number {
                    part = Part::Suffix;
                }
                half.quoted(part, &mut rest)?;
            } else if c == format.pattern_separator {
                return half.with_digits().map(|half| (half, Some(rest.as_str())));
            } else if half.count.takes(c, part, format)? {
                part = Part::Number;
            } else {
                if part == Part::Number {
                    part = Part::Suffix;
                }
                half.affix(c, part, format)?;
            }
        }
        half.with_digits().map(|half| (half, None))
    }

    fn with_digits(self) -> Result<Self, PictureError> {
        let count = &self.count;
        let any = count.left > 0 || count.required > 0 || count.right > 0;
        if any { Ok(self) } else { Err(PictureError::NoDigits) }
    }

    /// What stands between apostrophes stands for itself; two of them are one.
    fn quoted(&mut self, part: Part, rest: &mut core::str::Chars<'_>) -> Result<(), PictureError> {
        let Some((quoted, behind)) = rest.as_str().split_once('\'') else {
            return Err(PictureError::Apostrophe);
        };
        let affix = if part == Part::Prefix { &mut self.affixes.prefix } else { &mut self.affixes.suffix };
        affix.push_str(if quoted.is_empty() { "'" } else { quoted });
        *rest = behind.chars();
        Ok(())
    }

    fn affix(&mut self, c: char, part: Part, format: &DecimalFormat) -> Result<(), PictureError> {
        let scale = match c {
            c if c == format.percent => Some(2),
            c if c == format.per_mille => Some(3),
            _ => None,
        };
        if scale.is_some() && self.scale.is_some() {
            return Err(PictureError::SecondScale);
        }
        self.scale = self.scale.or(scale);
        let affix = if part == Part::Prefix { &mut self.affixes.prefix } else { &mut self.affixes.suffix };
        affix.push(c);
        Ok(())
    }
}

impl Count {
    /// Takes a character that belongs to the number; whether it does.
    fn takes(&mut self, c: char, part: Part, format: &DecimalFormat) -> Result<bool, PictureError> {
        let digit = c == format.digit || c == format.zero_digit;
        // In this order, if the same character is both.
        let grouping = c == format.grouping_separator;
        let point = c == format.decimal_separator;
        if !digit && !grouping && !point {
            return Ok(false);
        }
        if part == Part::Suffix {
            return Err(PictureError::SpecialCharacter);
        }
        if c == format.digit {
            if self.required > 0 {
                self.right = self.right.saturating_add(1);
            } else {
                self.left = self.left.saturating_add(1);
            }
        } else if c == format.zero_digit {
            if self.right > 0 {
                return Err(PictureError::DigitOrder);
            }
            self.required = self.required.saturating_add(1);
        } else if grouping {
            if self.point.is_some() {
                return Err(PictureError::Grouping);
            }
            self.group = Some(0);
        } else if self.point.is_some() {
            return Err(PictureError::SecondDecimalSeparator);
        } else {
            self.point = Some(self.total());
        }
        if digit && self.point.is_none() {
            self.group = self.group.map(|group| group.saturating_add(1));
        }
        Ok(true)
    }

    fn total(&self) -> usize {
        self.left.saturating_add(self.required).saturating_add(self.right)
    }

    fn shape(mut self) -> Result<Shape, PictureError> {
        let total = self.total();
        if let (0, Some(point)) = (self.required, self.point)
            && total > 0
        {
            // Without required digits, the last one of the integer part is, or the first one of the fraction if the
            // integer part has none: `#.##` writes 0.5 with a nought, and `.##` writes 0 with one behind the point.
            let required = point.max(1);
            (self.left, self.required, self.right) =
                (required.saturating_sub(1), 1, total.saturating_sub(required));
        }
        let integer = self.point.unwrap_or(total);
        let required_end = self.left.saturating_add(self.required);
        if integer < self.left || integer > required_end {
            return Err(PictureError::DigitOrder);
        }
        if self.group == Some(0) {
            return Err(PictureError::Grouping);
        }
        let ends = self.point.is_some_and(|point| point == 0 || point == total);
        Ok(Shape {
            min_integer: integer.saturating_sub(self.left),
            min_fraction: required_end.saturating_sub(integer),
            max_fraction: total.saturating_sub(integer),
            group: self.group.unwrap_or(0),
            point: if ends { Point::Always } else { Point::BeforeFraction },
        })
    }
}
