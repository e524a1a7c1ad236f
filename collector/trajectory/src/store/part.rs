//! One Parquet file of one table.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray as _, RecordBatch, StringArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::table::{Column, Kind, Row, Table};
use super::{StoreError, durable};
use crate::record::SCHEMA_VERSION;

const VERSION_KEY: &str = "whetstone.schema_version";
const WRITER_KEY: &str = "whetstone.writer";

/// Text columns of a batch are addressed with 32 bits; batches stay far below that.
const BATCH_BYTES: usize = 64 << 20;
const BATCH_ROWS: usize = 4096;

fn properties(table: Table) -> Result<WriterProperties, parquet::errors::ParquetError> {
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_max_row_group_bytes(Some(128 << 20))
        .set_key_value_metadata(Some(vec![
            KeyValue::new(VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string()),
            KeyValue::new(
                WRITER_KEY.to_owned(),
                format!("whetstone {}", env!("CARGO_PKG_VERSION")),
            ),
        ]));
    for column in table
        .columns()
        .iter()
        .filter(|column| column.kind == Kind::Long)
    {
        let path = ColumnPath::from(column.name);
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_LENGTH_BYTE_ARRAY);
    }
    Ok(builder.build())
}

/// Writes rows as one file, whole or not at all.
pub(super) fn write<T: Row>(path: &Path, rows: &[T]) -> Result<(), StoreError> {
    let fields = T::TABLE.fields();
    let schema = Arc::new(Schema::new(fields.clone()));
    let broken = |error| StoreError::parquet("write", path, error);
    durable::write_atomically(path, |file| {
        let properties = properties(T::TABLE).map_err(broken)?;
        let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(broken)?;
        for rows in batches(rows) {
            let batch = serde_arrow::to_record_batch(&fields, &rows).map_err(|source| {
                StoreError::Rows {
                    path: path.to_owned(),
                    source: Box::new(source),
                }
            })?;
            writer.write(&batch).map_err(broken)?;
        }
        writer.close().map_err(broken)?;
        Ok(())
    })
}

fn batches<T: Row>(rows: &[T]) -> Vec<&[T]> {
    let mut batches = Vec::new();
    let mut start = 0;
    let mut bytes = 0;
    for (index, row) in rows.iter().enumerate() {
        let weight = row.weight();
        if index > start && (index - start >= BATCH_ROWS || bytes + weight > BATCH_BYTES) {
            batches.push(&rows[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += weight;
    }
    if start < rows.len() {
        batches.push(&rows[start..]);
    }
    batches
}

/// Reads all rows of a file. Optional columns an older writer did not have are empty.
pub(super) fn read<T: Row>(path: &Path, experiment: &str) -> Result<Vec<T>, StoreError> {
    let fields = T::TABLE.fields();
    let mut rows = Vec::new();
    for batch in open(path, None)? {
        let batch = batch?;
        let columns = conform(path, &batch, T::TABLE.columns(), experiment)?;
        let mut more: Vec<T> =
            serde_arrow::from_arrow(&fields, &columns).map_err(|source| StoreError::Rows {
                path: path.to_owned(),
                source: Box::new(source),
            })?;
        rows.append(&mut more);
    }
    Ok(rows)
}

/// Reads some text columns of a file, row by row; a null reads as the empty text.
pub(super) fn read_texts<const N: usize>(
    path: &Path,
    names: [&'static str; N],
) -> Result<Vec<[String; N]>, StoreError> {
    let mut rows = Vec::new();
    for batch in open(path, Some(&names))? {
        let batch = batch?;
        let mut columns = Vec::with_capacity(N);
        for name in names {
            let column = batch
                .column_by_name(name)
                .ok_or_else(|| StoreError::MissingColumn {
                    path: path.to_owned(),
                    column: name,
                })?;
            columns.push(convert(path, column, &DataType::Utf8)?);
        }
        for row in 0..batch.num_rows() {
            rows.push(std::array::from_fn(|index| {
                let column = columns[index].as_string::<i32>();
                if column.is_null(row) {
                    String::new()
                } else {
                    column.value(row).to_owned()
                }
            }));
        }
    }
    Ok(rows)
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, StoreError>>>;

fn open(path: &Path, only: Option<&[&str]>) -> Result<Batches, StoreError> {
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let broken = |error| StoreError::parquet("read", path, error);
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(broken)?;
    let metadata = builder.metadata().file_metadata();
    let version = metadata
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == VERSION_KEY))
        .and_then(|pair| pair.value.as_deref());
    // A file rewritten by another program may have lost the mark; its columns are then checked one by one.
    if let Some(version) = version {
        let major = version
            .split('.')
            .next()
            .and_then(|major| major.parse::<i32>().ok());
        if major.is_none_or(|major| major > SCHEMA_VERSION) {
            return Err(StoreError::NewerSchema {
                path: path.to_owned(),
                found: version.to_owned(),
                known: SCHEMA_VERSION,
            });
        }
    }
    if let Some(only) = only {
        let mask = ProjectionMask::columns(builder.parquet_schema(), only.iter().copied());
        builder = builder.with_projection(mask);
    }
    let reader = builder.build().map_err(broken)?;
    let path = path.to_owned();
    Ok(Box::new(reader.map(move |batch| {
        batch.map_err(|source| StoreError::Columns {
            path: path.clone(),
            source,
        })
    })))
}

fn convert(path: &Path, column: &ArrayRef, wanted: &DataType) -> Result<ArrayRef, StoreError> {
    if column.data_type() == wanted {
        return Ok(Arc::clone(column));
    }
    cast(column, wanted).map_err(|source| StoreError::Columns {
        path: path.to_owned(),
        source,
    })
}

/// The columns of `batch` in our order and types.
fn conform(
    path: &Path,
    batch: &RecordBatch,
    columns: &'static [Column],
    experiment: &str,
) -> Result<Vec<ArrayRef>, StoreError> {
    let mut conformed = Vec::with_capacity(columns.len());
    for column in columns {
        let array = match batch.column_by_name(column.name) {
            Some(array) => convert(path, array, &column.data_type())?,
            None if !column.required => new_null_array(&column.data_type(), batch.num_rows()),
            // Programs that rewrite a partitioned folder keep the partition's value in the path only.
            None if column.name == "experiment" => {
                Arc::new(StringArray::from(vec![experiment; batch.num_rows()]))
            }
            None => {
                return Err(StoreError::MissingColumn {
                    path: path.to_owned(),
                    column: column.name,
                });
            }
        };
        conformed.push(array);
    }
    Ok(conformed)
}
