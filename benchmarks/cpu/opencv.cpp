/* OpenCV's filters on the benchmark's image. */
#include "contenders.h"

#include <opencv2/imgproc.hpp>

static cv::Mat floats(const contest *race, const float *data)
{
    return cv::Mat(race->height, race->width, CV_32F, const_cast<float *>(data));
}

static cv::Mat weights(const contest *race)
{
    return cv::Mat(race->side, race->side, CV_32F, const_cast<float *>(race->weights));
}

void opencv_filter2d(const contest *race)
{
    cv::setNumThreads(race->threads);
    cv::Mat out = floats(race, race->out);
    cv::filter2D(floats(race, race->floats), out, CV_32F, weights(race), cv::Point(-1, -1), 0,
                 cv::BORDER_REFLECT);
}

void opencv_filter2d_levels(const contest *race)
{
    cv::setNumThreads(race->threads);
    cv::Mat in(race->height, race->width, CV_8U, const_cast<uint8_t *>(race->levels));
    cv::Mat out(race->height, race->width, CV_8U, race->levels_out);
    cv::filter2D(in, out, CV_8U, weights(race), cv::Point(-1, -1), 0, cv::BORDER_REFLECT);
}

void opencv_separable(const contest *race)
{
    cv::setNumThreads(race->threads);
    cv::Mat out = floats(race, race->out);
    cv::Mat row(1, race->side, CV_32F, const_cast<float *>(race->row));
    cv::sepFilter2D(floats(race, race->floats), out, CV_32F, row, row, cv::Point(-1, -1), 0,
                    cv::BORDER_REFLECT);
}
